import type { Place } from './places.ts'

/** A text as one word of a POSIX shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/**
 * The arms of a `case` over `"$at $word"` that walk the command line, for bash and zsh: a command moves `at`, an option with a value
 * sets `value` to its choices, and to a blank when it takes a file or anything.
 */
export const walk = (places: readonly Place[]): string =>
  places.flatMap(({ path, valued }) => [...valued.map(arm(path)), ...step(path)]).join('\n')

const arm =
  (path: string) =>
  ({ flags, choices }: Place['valued'][number]): string =>
    `      ${flags.map((flag) => quote(`${path} ${flag}`)).join('|')}) value=${quote(`${choices.join(' ')} `)} ;;`

function step(path: string): readonly string[] {
  if (path === '') return []
  const at = path.lastIndexOf('/')
  return [`      ${quote(`${path.slice(0, at)} ${path.slice(at + 1)}`)}) at=${quote(path)} ;;`]
}
