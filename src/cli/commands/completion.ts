import { EXIT } from '../../model/index.ts'
import { defineCommand } from '../command.ts'
import { COMPLETION_SCRIPTS, SHELLS } from '../completion/scripts.ts'
import { print } from '../terminal.ts'

export const completionCommand = defineCommand({
  command: 'completion <shell>',
  summary: 'Print the completion script of a shell',
  positionals: { shell: { describe: 'Which shell', choices: SHELLS } },
  flags: {},
  examples: [
    ['source <($0 completion bash)', 'bash, in ~/.bashrc'],
    ['source <($0 completion zsh)', 'zsh, in ~/.zshrc, below compinit'],
    ['$0 completion fish > ~/.config/fish/completions/espalier.fish', 'fish'],
  ],
  notes: `Exit codes:
  0   printed
  1   wrong usage`,
  run: async ({ shell }, io) => {
    const known = SHELLS.find((name) => name === shell)
    if (known !== undefined) print(COMPLETION_SCRIPTS[known], io.stdout)
    return EXIT.ok
  },
})
