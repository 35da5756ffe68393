import type { Component } from './components.ts'

/** The day after which its makers mend a line no more, by product and the beginning of the version. Add a line when a product gets one. */
const lines: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Security support by Debian itself, without the years of LTS. Debian mends the contents of its packages, of any age.
  debian: { '11': '2024-08-14', '12': '2026-06-10', '13': '2028-08-09' },
  node: { '20.': '2026-04-30', '22.': '2027-04-30', '24.': '2028-04-30', '26.': '2029-04-30' },
  openssl: {
    '1.0.': '2019-12-31',
    '1.1.': '2023-09-11',
    '3.0.': '2026-09-07',
    '3.1.': '2025-03-14',
    '3.2.': '2025-11-23',
    '3.3.': '2026-04-09',
    '3.4.': '2026-10-22',
    '3.5.': '2030-04-08',
    '3.6.': '2026-11-01',
  },
  postgresql: { '14.': '2026-11-12', '15.': '2027-11-11', '16.': '2028-11-09', '17.': '2029-11-08', '18.': '2030-11-14' },
}

/** A part without security support, or with an unknown end of support. */
export interface UnsupportedPart {
  readonly name: string
  readonly version: string
  /** Null: the table above does not contain this line. */
  readonly until: string | null
}

/** Returns the parts of an image that are out of support on a day, and those missing in the table: the system, Node with its libraries, PostgreSQL. */
export function endedBy(day: string, components: readonly Component[]): readonly UnsupportedPart[] {
  return components
    .flatMap((component) => [component, ...(component.components ?? [])])
    .flatMap((component) => {
      const { version } = component
      const name = component.name.replace(/-\d+$/, '')
      const known = lines[name]
      if (known === undefined || isOfDebian(component)) return []
      const until =
        Object.entries(known).find(([start]) => `${version}.`.startsWith(start.endsWith('.') ? start : `${start}.`))?.[1] ?? null
      return until === null || until < day ? [{ name, version, until }] : []
    })
}

/** Debian mends its packages, of all but PostgreSQL, whose lines it follows. */
const isOfDebian = ({ purl = '', name }: Component) => purl.startsWith('pkg:deb/') && !name.startsWith('postgresql-')
