import type { Command, ValuesOf } from '../command.ts'

export const completionCommand = {
  command: 'completion <shell>',
  summary: 'Print the completion script for a shell',
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
} as const satisfies Command

export type CompletionFlags = ValuesOf<typeof completionCommand>
