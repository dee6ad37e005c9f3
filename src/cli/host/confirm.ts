import type { Surroundings } from '../framework/command.js'

/** Asks for confirmation on a terminal; without one, the answer is no. */
export async function isConfirmed({ out }: Surroundings, question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !out.stderr.isTerminal || out.isJson) return false
  const { confirm } = await import('@clack/prompts')
  return (await confirm({ message: question, initialValue: false, output: process.stderr })) === true
}
