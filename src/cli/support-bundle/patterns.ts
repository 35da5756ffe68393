import { isSecretName } from '../../lib/text/secret-names.ts'
import { scrubSecrets } from '../../lib/text/secret-shapes.ts'

/** The mark in place of a secret that was found by its form. */
export const mark = '[secret]'

/** A text, and how many secrets were taken out of it. */
export interface CountedText {
  readonly text: string
  readonly count: number
}

const passName = /(?:^|[_.-])pass$|^pgpassword$/i

/** Returns true if a field of this name may hold a secret. */
export const isSecret = (name: string): boolean => isSecretName(name) || passName.test(name)

/** Takes out texts that look like a secret: by their shape, by the text before them, and both again in encoded parts. */
export function replacePatterns(text: string): CountedText {
  const plain = replacePlain(text)
  let count = plain.count
  const decode = (encoding: 'base64' | 'hex') => (run: string) => {
    const decoded = Buffer.from(run, encoding).toString('latin1')
    if (!mostlyPrintable.test(decoded.slice(0, 40)) || replacePlain(decoded).count === 0) return run
    count += 1
    return mark
  }
  return { text: plain.text.replaceAll(hexRun, decode('hex')).replaceAll(base64Run, decode('base64')), count }
}

const hexRun = /(?<![0-9a-f])(?:[0-9a-f]{2}){16,5000}(?![0-9a-f])/gi
const base64Run = /(?<![\w+/-])[\w+/-]{24,20000}={0,2}/g
const mostlyPrintable = /^[\t\n\r\x20-\x7e]+$/

/** Logins in the addresses of servers; a password may hold characters that should be encoded. */
const serverLogin =
  /\b((?:postgres(?:ql)?|redis|rediss|mysql|mariadb|mongodb|amqps?|ldaps?|smtps?):\/\/)[^\s"'<>@/:]{0,200}:[^\s"'<>]{0,2000}@/gi
/** Headers of which all that follows is secret. */
const secretHeader = /\b((?:proxy-)?authorization|(?:set-)?cookie)(["']?\s*[:=]\s*["']?)(?!\[secret)[^\r\n"']+/gi

function replacePlain(text: string): CountedText {
  let count = 0
  const counted = (replacement: string) => {
    count += 1
    return replacement
  }
  // Before the general shapes, which end a password at its first slash.
  const logins = text.replaceAll(serverLogin, (_, scheme: string) => counted(`${scheme}${mark}@`))
  const scrubbed = scrubSecrets(logins)
  count += scrubbed.split(mark).length - logins.split(mark).length
  const headers = scrubbed.replaceAll(secretHeader, (_, name: string, sign: string) => counted(`${name}${sign}${mark}`))
  const named = replaceNamed(headers)
  return { text: named.text, count: count + named.count }
}

/** `name=`, `name: `, `"name": `, also in a JSON text within another; and `name 'value'`, as in SQL. */
const nameBefore = /(?<![\w.-])([\w.-]{2,200})(?:(?:\\?["'])?\s{0,3}[=:]\s{0,3}|\s{1,3}(?=\\?["']))/g
/** A value that begins where the name's sign ends: quoted, with the same quote at its end, or bare. */
const quoted = /(\\?["'])(?!\[secret)((?:(?!\1)(?:\\.|[^\r\n]))*)/y
const bare = /(?!\[secret)([^\s"'\\,;&{}[\]()<>]+)/y
const harmless = /^(?:true|false|null)$/

/** A name that is not secret is passed over alone, because its value may hold names itself. */
function replaceNamed(text: string): CountedText {
  let result = ''
  let kept = 0
  let count = 0
  nameBefore.lastIndex = 0
  for (let match = nameBefore.exec(text); match !== null; match = nameBefore.exec(text)) {
    const value = isSecret(match[1] ?? '') ? valueAt(text, nameBefore.lastIndex) : null
    if (value === null) continue
    result += text.slice(kept, value.from) + mark
    kept = value.to
    nameBefore.lastIndex = value.to
    count += 1
  }
  return { text: result + text.slice(kept), count }
}

function valueAt(text: string, at: number): { readonly from: number; readonly to: number } | null {
  quoted.lastIndex = at
  const inQuotes = quoted.exec(text)
  if (inQuotes !== null) return { from: at + (inQuotes[1] ?? '').length, to: quoted.lastIndex }
  bare.lastIndex = at
  const word = bare.exec(text)
  return word === null || harmless.test(word[1] ?? '') ? null : { from: at, to: bare.lastIndex }
}
