/** A flat list of headers as Node gives and takes it: name, value, name, value … Names stand as they came. */
export type HeaderList = readonly string[]

/** Returns the first value of a header; the name in lower case. */
export function headerValue(list: HeaderList, name: string): string | undefined {
  for (let at = 0; at < list.length; at += 2) if (isNamed(list[at] ?? '', name)) return list[at + 1]
  return undefined
}

const none: HeaderList = []

/** Returns every value of a header; the name in lower case. */
export function headerValues(list: HeaderList, name: string): readonly string[] {
  let values: string[] | null = null
  for (let at = 0; at < list.length; at += 2) if (isNamed(list[at] ?? '', name)) (values ??= []).push(list[at + 1] ?? '')
  return values ?? none
}

/** Returns how often a header comes; the name in lower case. */
export function countHeaders(list: HeaderList, name: string): number {
  let count = 0
  for (let at = 0; at < list.length; at += 2) if (isNamed(list[at] ?? '', name)) count += 1
  return count
}

/** Returns a record of headers as a list. */
export function headerList(record: Readonly<Record<string, string>> | undefined): HeaderList {
  let list: string[] | null = null
  for (const name in record) (list ??= []).push(name, record[name] ?? '')
  return list ?? none
}

/** Visits each header. */
export function eachHeader(list: HeaderList, visit: (name: string, value: string) => void): void {
  for (let at = 0; at < list.length; at += 2) visit(list[at] ?? '', list[at + 1] ?? '')
}

/** Returns a list without the dropped headers, which `drops` selects by their names in lower case. */
export function headersWithout(list: HeaderList, drops: (name: string) => boolean): string[] {
  const kept: string[] = []
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? ''
    if (!drops(name.toLowerCase())) kept.push(name, list[at + 1] ?? '')
  }
  return kept
}

/** Returns true if a test is true for the name of any header, as it came. */
export function someHeader(list: HeaderList, test: (name: string) => boolean): boolean {
  for (let at = 0; at < list.length; at += 2) if (test(list[at] ?? '')) return true
  return false
}

/** Takes a header out of a list; the name in lower case. */
export function removeHeader(list: string[], name: string): void {
  for (let at = list.length - 2; at >= 0; at -= 2) if (isNamed(list[at] ?? '', name)) list.splice(at, 2)
}

/** Returns a list in which each of the newer headers stands in place of those with its name. */
export function headersReplaced(list: HeaderList, newer: HeaderList): HeaderList {
  if (newer.length === 0) return list
  for (let at = 0; at < list.length; at += 2) if (hasHeader(newer, list[at] ?? '')) return withoutThose(list, newer).concat(newer)
  return list.concat(newer)
}

function withoutThose(list: HeaderList, others: HeaderList): string[] {
  const kept: string[] = []
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? ''
    if (!hasHeader(others, name)) kept.push(name, list[at + 1] ?? '')
  }
  return kept
}

/** Returns true if a list holds a header, in any case of either name. */
export function hasHeader(list: HeaderList, name: string): boolean {
  for (let at = 0; at < list.length; at += 2) {
    const candidate = list[at] ?? ''
    if (candidate.length === name.length && candidate.toLowerCase() === name.toLowerCase()) return true
  }
  return false
}

/** Returns the headers as a record by lower-case name; repeated values are joined by a comma. */
export function headerRecord(list: HeaderList): Readonly<Record<string, string>> {
  const values = new Map<string, string>()
  eachHeader(list, (name, value) => {
    const lower = name.toLowerCase()
    const held = values.get(lower)
    values.set(lower, held === undefined ? value : `${held}, ${value}`)
  })
  return Object.fromEntries(values)
}

/** Compares the lengths first: most names differ in them, and lower case is made of none of those. */
const isNamed = (candidate: string, lower: string): boolean => candidate.length === lower.length && candidate.toLowerCase() === lower
