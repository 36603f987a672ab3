/**
 * Each asks the program itself for what may come next (yargs answers `--get-yargs-completions`), so none grows stale.
 * With SHELL=zsh it answers `word:description`.
 */
export const COMPLETION_SCRIPTS = {
  bash: `# bash completion of espalier; add to ~/.bashrc: source <(espalier completion bash)
_espalier() {
  local IFS=$'\\n'
  local current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(compgen -W "$(SHELL=bash ZSH_NAME= espalier --get-yargs-completions "\${COMP_WORDS[@]}" 2>/dev/null)" -- "$current"))
  if [ \${#COMPREPLY[@]} -eq 0 ]; then
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _espalier espalier
`,
  zsh: `#compdef espalier
# zsh completion of espalier; add to ~/.zshrc, below compinit: source <(espalier completion zsh)
_espalier() {
  local -a replies
  replies=(\${(f)"$(SHELL=zsh espalier --get-yargs-completions "\${words[@]}" 2>/dev/null)"})
  if (( \${#replies} )); then
    _describe 'espalier' replies
  fi
  _files
}
compdef _espalier espalier
`,
  fish: `# fish completion of espalier; save as ~/.config/fish/completions/espalier.fish
function __espalier_complete
    set -l words (commandline -opc) (commandline -ct)
    env SHELL=zsh espalier --get-yargs-completions $words 2>/dev/null | string replace -r '(?<!\\\\\\\\):' \\t
end
complete -c espalier -a '(__espalier_complete)'
`,
} as const

export const SHELLS = Object.keys(COMPLETION_SCRIPTS) as readonly (keyof typeof COMPLETION_SCRIPTS)[]
