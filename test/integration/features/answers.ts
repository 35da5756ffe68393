import type { Answer } from './setup.ts'

/** The fields of a successful answer, each as text; throws the error otherwise. */
export async function made(answer: Promise<Answer>): Promise<Readonly<Record<string, string>>> {
  const { status, text, body } = await answer
  if (status !== 200) throw new Error(`${status} ${text}`)
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]))
}

/** The facts of a refusal. */
export const errorOf = ({ body, text }: Answer): { readonly code: string; readonly param: string | null; readonly message: string } => {
  const error = body['error']
  if (typeof error !== 'object' || error === null) throw new Error(`no error: ${text}`)
  return error as { code: string; param: string | null; message: string }
}

/** The items of a list. */
export const dataOf = ({ body }: Answer): readonly Readonly<Record<string, unknown>>[] => body['data'] as Record<string, unknown>[]

/** One field of every item of a list. */
export const each = (answer: Answer, field: string): readonly unknown[] => dataOf(answer).map((item) => item[field])
