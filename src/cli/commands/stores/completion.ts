import type { App } from '../../../app/rota.js'
import { type Command, exitCodes } from '../../framework/command.js'
import { completionScript, shells } from '../../framework/completion-script.js'

/** `rota completion`: prints a completion script for a shell. */
export const completion: Command<App> = {
  name: 'completion',
  about:
    'Prints a script that completes commands, options and words, and the names of triggers and jobs from the store of the directory.',
  arguments: [{ name: 'shell', help: 'which shell', choices: shells }],
  examples: {
    'source <(rota completion bash)': 'in ~/.bashrc',
    'source <(rota completion zsh)': 'in ~/.zshrc, after compinit',
    'rota completion fish > ~/.config/fish/completions/rota.fish': 'once',
  },
  run: async ({ args, out, commands }) => {
    const shell = shells.find((one) => one === args.word(0)) ?? 'bash'
    out.line(await completionScript(shell, await commands()))
    return exitCodes.ok
  },
}
