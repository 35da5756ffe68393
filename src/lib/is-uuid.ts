const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns true if a text has the form of a UUID. PostgreSQL refuses to compare a uuid column with any other text. */
export const isUuid = (text: string): boolean => pattern.test(text)

/** Returns a slug or UUID as it is stored. Queries find a row by the text of its reference, and ids are in lower case. */
export const toReference = (text: string): string => (isUuid(text) ? text.toLowerCase() : text)
