import { googlePattern } from './google-versions.ts'
import type { MatchedOperation } from './match.ts'

/** The methods of Google's API that run a model. Its clients reach them at their own paths, which are no operations of OpenAI's or Anthropic's. */
const ofGoogle = googlePattern(
  String.raw`/models/[^?]+:(generateContent|streamGenerateContent|embedContent|batchEmbedContents|countTokens)(?:\?|$)`,
)

/** Returns true for a path of Google's that runs a model. */
export const isMethodOfGoogle = (path: string): boolean => ofGoogle.test(path)

/** Returns true for a path of Google's that counts tokens. */
export const isCountOfGoogle = (path: string): boolean => ofGoogle.exec(path)?.[1] === 'countTokens'

/** Returns the name of a request's operation in the log: an operation, a method of Google's, or `proxy` for all else. */
export function operationName({ name }: MatchedOperation, path: string): string {
  if (name !== 'proxy') return name
  return path.split('?', 1)[0] === '/rerank' ? 'rerank' : (ofGoogle.exec(path)?.[1] ?? name)
}
