import { EXIT } from '../../base/index.ts'
import { commandOf, type Description, type ValuesOf } from '../command.ts'
import { print } from '../terminal/terminal.ts'

const DESCRIPTION = {
  positionals: { shell: { describe: 'Shell in which to complete commands', choices: ['bash', 'zsh', 'fish'] } },
  flags: {},
  examples: [
    ['source <($0 completion bash)', 'For bash, add this line to ~/.bashrc'],
    ['source <($0 completion zsh)', 'For zsh, add this line to ~/.zshrc, below compinit'],
    ['$0 completion fish > ~/.config/fish/completions/espalier.fish', 'For fish, run this once'],
  ],
  notes: `Exit codes:
  0   printed
  1   wrong usage`,
} as const satisfies Description

type CompletionFlags = ValuesOf<typeof DESCRIPTION>

/** Each script gets its completions from the program (`espalier __complete WORDS…`), so it never needs an update. */
const SCRIPTS: Readonly<Record<CompletionFlags['shell'], string>> = {
  bash: `# bash completion of espalier; add to ~/.bashrc: source <(espalier completion bash)
_espalier() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(espalier __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [ \${#COMPREPLY[@]} -eq 0 ]; then
    COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
  fi
}
complete -o filenames -F _espalier espalier
`,
  zsh: `#compdef espalier
# zsh completion of espalier; add to ~/.zshrc, below compinit: source <(espalier completion zsh)
_espalier() {
  local -a replies
  replies=(\${\${(f)"$(espalier __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"}//:/\\\\:})
  replies=(\${replies//$'\\t'/:})
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
    espalier __complete $words[2..] 2>/dev/null
end
complete -c espalier -a '(__espalier_complete)'
`,
}

export const completionCommand = commandOf(DESCRIPTION, async ({ shell }, io) => {
  print(SCRIPTS[shell], io.stdout)
  return EXIT.ok
})
