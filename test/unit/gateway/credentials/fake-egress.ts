import type { Egress, SmallRequest, SmallResponse } from '../../../../src/gateway/egress/egress.ts'

/** An egress that answers from a script and remembers its requests. */
export interface FakeEgress extends Egress {
  readonly asked: readonly SmallRequest[]
}

/** Every exchange is answered by `answer`; no other method may be called. */
export function fakeEgress(answer: (request: SmallRequest, count: number) => SmallResponse | Promise<SmallResponse>): FakeEgress {
  const asked: SmallRequest[] = []
  const fake: FakeEgress = {
    asked,
    ownedBy: () => fake,
    async exchange(request) {
      asked.push(request)
      return answer(request, asked.length)
    },
    origin: () => {
      throw new Error('authorization opens no origin')
    },
    resolves: async () => true,
    close: async () => undefined,
  }
  return fake
}

export const ok = (body: unknown): SmallResponse => answered(200, typeof body === 'string' ? body : JSON.stringify(body))

/** An answer with a status and a text. */
export const answered = (status: number, text: string): SmallResponse => ({ status, headers: {}, bytes: Buffer.from(text), text })

/** For kinds that must not call out. */
export const noEgress = (): FakeEgress =>
  fakeEgress(() => {
    throw new Error('no exchange was expected')
  })

/** A flat header list as a record. */
export function record(flat: readonly string[]): Record<string, string> {
  const result: Record<string, string> = {}
  for (let i = 0; i < flat.length; i += 2) result[flat[i] ?? ''] = flat[i + 1] ?? ''
  return result
}
