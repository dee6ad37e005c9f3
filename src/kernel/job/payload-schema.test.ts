import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { checkPayload, isPayloadSchema, type SchemaInput, type SchemaOutput } from './payload-schema.js'

const mail = z.object({ to: z.email(), copies: z.int().min(1).default(1) })

describe('a payload schema', () => {
  it('is any value with the Standard Schema interface', () => {
    expect(isPayloadSchema(mail)).toBe(true)
    const callable = Object.assign(() => undefined, { '~standard': { validate: () => ({ value: 1 }) } })
    expect(isPayloadSchema(callable)).toBe(true)
    for (const value of [undefined, null, 'text', {}, { '~standard': null }]) {
      expect(isPayloadSchema(value)).toBe(false)
    }
  })

  it('returns the payload with defaults filled in', async () => {
    await expect(checkPayload(mail, 'mail', { to: 'ada@example.com' })).resolves.toEqual({
      to: 'ada@example.com',
      copies: 1,
    })
  })

  it('refuses a payload with all faults and their places', async () => {
    const refused = checkPayload(mail, 'mail', { to: 'nobody', copies: 0 })
    await expect(refused).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
      message: expect.stringContaining(
        'the payload of job mail does not fit its schema: payload.to: ',
      ) as string,
      faults: [{ path: 'payload.to' }, { path: 'payload.copies' }],
    })
    await expect(checkPayload(mail, 'mail', undefined)).rejects.toMatchObject({
      faults: [{ path: 'payload' }],
    })
  })

  it('waits for an asynchronous schema', async () => {
    const later = z.string().refine(async (text) => text === 'yes', 'say yes')
    await expect(checkPayload(later, 'ask', 'yes')).resolves.toBe('yes')
    await expect(checkPayload(later, 'ask', 'no')).rejects.toMatchObject({
      faults: [{ path: 'payload', message: 'say yes' }],
    })
  })

  it('types what it accepts and what it returns', () => {
    expectTypeOf<SchemaInput<typeof mail>>().toEqualTypeOf<{ to: string; copies?: number | undefined }>()
    expectTypeOf<SchemaOutput<typeof mail>>().toEqualTypeOf<{ to: string; copies: number }>()
  })
})
