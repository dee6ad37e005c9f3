// A bot whose users schedule commands. Run it with `node examples/command-jobs/bot.mjs`.
import { rota } from 'rota'

const app = rota({ app: 'bot', store: 'sqlite:data/bot.db' })

// A command is performed by the job with its name …
app.job('check_status', async (run) => `all is well, ${run.payload.user_id}`, { retry: { attempts: 3 } })

// … and every other command here. The id of the task is the same for every attempt.
app.commands.handle(async ({ command, userId, metadata, task, signal }) => {
  signal.throwIfAborted()
  console.log(`${command} for ${userId}, chat ${metadata.chat ?? 'none'} (${task.id.slice(0, 14)}…)`)
})

app.on('run:ended', ({ trigger, state }) => console.log(`${trigger}: ${state}`))
await app.start()

// At run time: a job is checked, stored, and thereby scheduled. `rota job add` does the same from a shell.
const daily = await app.commands.add({
  type: 'recurring',
  schedule: '0 9 * * *',
  command: 'check_status',
  userId: 'user1',
})
console.log(`${daily.type}, ${daily.state}, next at ${daily.nextAt.toISOString().slice(11, 16)} UTC`)

const soon = new Date(Date.now() + 300)
const reminder = {
  type: 'oneshot',
  executeAt: soon,
  command: 'remind',
  userId: 'user1',
  metadata: { chat: '42' },
}
const { id } = await app.commands.add({ id: 'reminder', ...reminder })
await app.commands.add({ id: 'reminder', ...reminder }).catch((error) => console.log(error.code))
await app.commands
  .add({ type: 'recurring', schedule: '0 25 * * *', command: 'x' })
  .catch((error) => console.log(error.message))

// Run it now, in addition to its schedule.
await app.runs.wait((await app.commands.runNow(daily.id)).id)

while ((await app.commands.get(id)).state !== 'executed')
  await new Promise((resolve) => setTimeout(resolve, 50))
console.log(`cleaned up: ${await app.commands.cleanup()}`)
console.log(`left: ${(await app.commands.list()).map(({ command }) => command)}`)
await app.commands.remove(daily.id)
await app.stop()
