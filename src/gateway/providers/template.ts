import { ApiError } from '../../lib/errors.ts'
import { operationParams } from '../operations/operation-params.ts'
import { withoutEnd } from '../../lib/text/without-end.ts'

type Fields = Readonly<Record<string, string>>

/** `{name}`, `{first|second}` (the first that is given), `{+name}` (may span several path segments), `{?name}` (a value of the query). */
const placeholder = /\{([+?]?)([a-z0-9_|]+)\}/g

/** The characters of a host label or a path segment: no character that could end it, climb out of it or begin another part of the URL. */
const safeValue = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/
const encodedSegment = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/

/**
 * Fills a URL template from credential fields, path parameters and the model. Values cannot change the host or leave their path
 * segment: fields are host labels, `model` is percent-encoded, path parameters stay as the caller encoded them, and a name that
 * ends in `_url` is a whole base URL at the template's start (the egress guard checks where it leads).
 * Throws `missing_credential` or `invalid_request`, naming the field.
 */
export function fillTemplate(template: string, fields: Fields, model: string | null = null): string {
  if (!template.includes('{')) return template
  return template.replaceAll(placeholder, (match, kind: string, names: string) => {
    const { name, value } = lookUp(names, fields, model)
    if (name.endsWith('_url') && template.startsWith(match)) return wholeUrl(name, value)
    if (name === 'model') return kind === '+' ? value.split('/').map(encodeModel).join('/') : encodeModel(value)
    if (kind === '?') return encodeURIComponent(value)
    return operationParams.has(name) ? pathParameter(name, value) : fieldValue(name, value)
  })
}

function lookUp(names: string, fields: Fields, model: string | null): { name: string; value: string } {
  for (const name of names.split('|')) {
    const value = name === 'model' && model !== null ? model : Object.hasOwn(fields, name) ? fields[name] : undefined
    if (value !== undefined && value !== '') return { name, value }
  }
  throw missing(names.split('|')[0] ?? names)
}

function missing(name: string): ApiError {
  if (name === 'model') {
    return new ApiError('invalid_request', 'This provider takes the model from the URL, and the request names none.', { param: name })
  }
  if (operationParams.has(name)) return new ApiError('invalid_request', `The path needs ${name}.`, { param: name })
  const header = `x-service-${name.replaceAll('_', '-')}`
  return new ApiError('missing_credential', `This provider needs ${name}. Store it with the provider, or send ${header}.`, { param: name })
}

const invalid = (name: string, rule: string): ApiError => new ApiError('invalid_request', `The value of ${name} ${rule}.`, { param: name })

function fieldValue(name: string, value: string): string {
  if (value.length <= 200 && safeValue.test(value)) return value
  throw invalid(name, 'may hold only letters, digits, dots, dashes and underscores')
}

function encodeModel(value: string): string {
  if (value === '' || value === '.' || value === '..' || !value.isWellFormed()) throw invalid('model', 'cannot be part of a URL')
  return encodeURIComponent(value)
}

function pathParameter(name: string, value: string): string {
  if (encodedSegment.test(value) && !/^(?:\.|%2e){1,2}$|%2f|%5c|%00/i.test(value)) return value
  throw invalid(name, 'cannot be one segment of a path')
}

function wholeUrl(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === ''
  if (!plain) throw invalid(name, 'must be an http or https URL without user, query or fragment')
  // As it was given: the guard refuses texts that a parser folds away, such as a backslash or an empty user.
  return withoutEnd(value, '/')
}
