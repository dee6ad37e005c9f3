// A job whose payload a schema checks and types. Any Standard Schema works: zod, valibot, arktype.
import { RotaError, rota } from 'rota'
import { z } from 'zod'

const app = rota({ store: 'memory:' })

const mail = app.job('mail', {
  schema: z.object({ to: z.email(), copies: z.int().default(1) }),
  handler: async ({ payload }) => ({ sent: payload.copies }),
  retry: 3,
})

await app.start()
const run = await app.enqueue(mail, { to: 'ada@example.com' })
console.log(`sent: ${(await run.result()).sent}`)

await app.enqueue(mail, { to: 'nobody' }).catch((error: RotaError) => console.log(error.code))
await app.stop()
