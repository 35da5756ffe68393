import { ApiError } from './errors.ts'

/** The words of a person that a guesser tries first. */
export interface OwnWords {
  readonly email: string
  readonly organisation: string
  /** The names of the person, as far as they are known. */
  readonly names: readonly (string | null | undefined)[]
}

/** From 0 to 4; 3 stands for a hundred million guesses, which an attacker without the stored hashes never makes. */
const leastScore = 3
/** The time of a look grows with the square of the length; so many characters decide. */
const longestPart = 64

/** The reason, by the kind of pattern that takes the largest part of a password. */
const reasons: Readonly<Record<string, string>> = {
  userInputs: 'it consists of your name or address, of the name of the organisation or of the product',
  dictionary: 'it is a common password, or begins with one',
  repeat: 'it repeats itself',
  sequence: 'it is a row of letters or digits',
  spatial: 'it is a row of keys',
  date: 'it is a date',
}

/**
 * Throws AB01 for a password that is guessed early: common ones, repeats, rows of letters or keys, dates, and the own words of its person. The list of
 * common passwords comes with the product.
 */
export async function refuseWeakPassword(password: string, own: OwnWords): Promise<void> {
  const { createGuesser } = await import('./guesser.ts')
  const guesser = createGuesser()
  const words = wordsOf(own)
  const parts = password.length > longestPart ? [password.slice(0, longestPart), password.slice(-longestPart)] : [password]
  const looks = parts.map((part) => guesser.check(part, words))
  if (looks.some(({ score }) => score >= leastScore)) return
  const [largest] = (looks[0]?.sequence ?? []).toSorted((one, other) => other.token.length - one.token.length)
  const kind = largest?.['dictionaryName'] === 'userInputs' ? 'userInputs' : (largest?.pattern ?? '')
  const reason = reasons[kind] ?? 'it has too few different parts'
  throw new ApiError('AB01', `This password is easy to guess: ${reason}. A sentence of several words is a good one.`, { param: 'password' })
}

const joints = ['', ' ', '-', '_', '.']

/** Returns the address, its parts and the words of the names of person and organisation, apart and joined in the usual ways. */
function wordsOf({ email, organisation, names }: OwnWords): string[] {
  const known = names.filter((name) => typeof name === 'string')
  const words = [email, ...email.split('@'), organisation, ...known, known.join(' '), known.toReversed().join(' '), 'gatehouse'].flatMap(
    (text) => {
      const parts = text.split(/[^\p{L}\p{N}]+/u)
      return [text].concat(
        parts,
        joints.map((joint) => parts.join(joint)),
      )
    },
  )
  return [...new Set(words.map((word) => word.toLowerCase()).filter((word) => word.length > 2))]
}
