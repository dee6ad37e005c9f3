import { ApiError } from '../../../../src/client/client.js'
import { words } from '../../words/trigger-changes.js'

/** How many requests are sent at the same time. */
const atOnce = 4

/**
 * Makes one change for each name and returns those that it changed. A refusal of one does not stop the others; all
 * refusals together become one error.
 */
export async function changeMany(
  names: readonly string[],
  change: (name: string) => Promise<{ readonly changed: boolean }>,
  onProgress: (done: number) => void,
): Promise<readonly string[]> {
  const changed: string[] = []
  const refusals: unknown[] = []
  const left = [...names]
  const work = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      try {
        if ((await change(name)).changed) changed.push(name)
      } catch (error) {
        refusals.push(error)
      }
      onProgress(names.length - left.length)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  const [first] = refusals
  if (first === undefined) return changed
  if (names.length === 1 || !(first instanceof ApiError)) throw first
  const { status, code, todo } = first
  throw new ApiError({ detail: words.failed(refusals.length, first.message), code, todo }, status)
}
