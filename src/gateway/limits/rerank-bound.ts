import { isFields, type Fields } from '../../lib/json/fields.ts'
import { mostOfPicture, tokensOfPicture, tokensOfText } from './input-bound.ts'
import { partsOf } from './prompt-parts.ts'

/** The fields that hold the documents of a search, in all formats, and those that hold its query. */
const documentFields = ['documents', 'records', 'sources', 'passages', 'texts', 'inputs'] as const
const queryFields = ['query', 'queries', 'text'] as const

/** A unit is a query with up to so many documents, and a longer document counts as several, each with the query: docs.cohere.com/docs/rate-limits. */
const documentsOfUnit = 100
const longestDocument = 500

/** A search among documents as it is sold. */
export interface SearchBound {
  readonly units: number
  /** The tokens of the query, which is read again with each document. */
  readonly queryTokens: number
  readonly documents: number
}

/** Bounds a search. `isStrict`: a text has as many tokens as bytes. */
export function searchBound(json: Fields, isStrict: boolean): SearchBound {
  const tokensOf = (bytes: number): number => (isStrict ? bytes : tokensOfText(bytes))
  const queryTokens =
    tokensOf(queryFields.reduce((bytes, name) => bytes + bytesIn(json[name]), 0)) +
    picturesIn(json) * (isStrict ? mostOfPicture : tokensOfPicture)
  const documents = documentFields.map((name) => json[name]).find((held): held is readonly unknown[] => Array.isArray(held)) ?? []
  const room = Math.max(1, longestDocument - queryTokens)
  let pieces = 0
  for (const one of documents) pieces += Math.max(1, Math.ceil(tokensOf(bytesIn(one)) / room))
  return { units: Math.max(1, Math.ceil(pieces / documentsOfUnit)), queryTokens, documents: Math.max(1, documents.length) }
}

/** Returns the pictures of the query, which may be one. */
const picturesIn = (json: Fields): number => queryFields.reduce((sum, name) => sum + partsOf({ query: json[name] }).pictures, 0)

/** Documents may have fields, and fields of fields. */
const deepest = 5

function bytesIn(value: unknown, depth = 0): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (depth > deepest || typeof value !== 'object' || value === null) return 0
  let bytes = 0
  if (Array.isArray(value)) for (const one of value as readonly unknown[]) bytes += bytesIn(one, depth + 1)
  else if (isFields(value)) for (const name in value) bytes += bytesIn(value[name], depth + 1)
  return bytes
}
