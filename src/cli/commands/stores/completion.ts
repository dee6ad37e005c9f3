import { chosenWord } from '../../framework/actions.js'
import { type Command, exitCodes } from '../../framework/command.js'

const shells = ['bash', 'zsh', 'fish'] as const

/** `rota completion`: prints a completion script for a shell. */
export const completion: Command = {
  name: 'completion',
  about:
    'Prints a script that completes commands, options and words, and the names of triggers and jobs from the store of the directory.',
  arguments: [{ name: 'shell', help: 'bash, zsh or fish', completes: shells }],
  options: [],
  examples: [
    { line: 'source <(rota completion bash)', meaning: 'in ~/.bashrc' },
    { line: 'source <(rota completion zsh)', meaning: 'in ~/.zshrc, after compinit' },
    { line: 'rota completion fish > ~/.config/fish/completions/rota.fish', meaning: 'once' },
  ],
  run: async ({ args, out }) => {
    const shell = chosenWord(args.word(0), { command: 'completion', known: shells, path: '<shell>' })
    const { completionScript } = await import('../../framework/completion-script.js')
    out.line(await completionScript(shell))
    return exitCodes.ok
  },
}
