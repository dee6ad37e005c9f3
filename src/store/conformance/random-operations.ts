import * as fc from 'fast-check'
import { it } from 'vitest'
import { checkLaws, compareFacts } from './cases/facts.js'
import { openModel } from './effects.js'
import { operations } from './operation.js'
import { Player } from './player.js'
import type { OpenStore } from './stage.js'

/** How many stories are played, and after how many operations everything is compared. */
const mostStories = 30
const compareEvery = 20

/** The time limit for shrinking a failing story. */
const limitMs = 60_000

/** The time limit of one story. */
const storyMs = 1000

/**
 * Plays random stories on the memory store and on another one, and compares every answer. A failure prints its seed
 * and a short story that still fails.
 */
export function randomOperations(open: OpenStore, stories = mostStories, seed?: number): void {
  const law = 'G1, G2, G3, G6: any story of operations gives the same answers as the memory store'
  const given = seed === undefined ? {} : { seed }
  it(law, { timeout: 3 * limitMs + stories * storyMs }, async () => {
    const property = fc.asyncProperty(operations, (story) => playStory(open, story))
    const interruptAfterTimeLimit = limitMs + stories * storyMs
    await fc.assert(property, { numRuns: stories, interruptAfterTimeLimit, ...given })
  })
}

async function playStory(open: OpenStore, story: readonly Parameters<Player['play']>[0][]): Promise<void> {
  const player = new Player({ model: openModel(), opened: await open(), open })
  try {
    await player.begin()
    for (const [i, operation] of story.entries()) {
      await player.play(operation)
      if ((i + 1) % compareEvery === 0) await compareFacts(player)
    }
    await compareFacts(player)
    await checkLaws(player)
  } finally {
    await player.dispose()
  }
}
