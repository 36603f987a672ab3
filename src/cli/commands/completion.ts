import type { Command, ValuesOf } from '../command.ts'

export const completionCommand = {
  command: 'completion <shell>',
  summary: 'Print the completion script of a shell',
  positionals: { shell: { describe: 'Shell to complete commands in', choices: ['bash', 'zsh', 'fish'] } },
  flags: {},
  examples: [
    ['source <($0 completion bash)', 'bash, in ~/.bashrc'],
    ['source <($0 completion zsh)', 'zsh, in ~/.zshrc, below compinit'],
    ['$0 completion fish > ~/.config/fish/completions/espalier.fish', 'fish'],
  ],
  notes: `Exit codes:
  0   printed
  1   wrong usage`,
} as const satisfies Command

export type CompletionFlags = ValuesOf<typeof completionCommand>
