import { laterParts } from '../../src/gateway/config/compile.ts'
import { gatewayConfig } from '../../src/gateway/config/config.schema.ts'
import { providerFieldNames, secretConfigFields, unreadFieldNames } from '../../src/gateway/providers/provider-fields.ts'
import { breaker, cache, retry, strategy } from '../../src/gateway/config/strategy.schema.ts'
import { cell, code, fieldRows, fieldTable, type Row, table } from './parameter-table.ts'

const later = new Map(laterParts.map(({ part, when }) => [part, when]))

const state = (name: string): string => {
  const when = later.get(name)
  return when === undefined ? 'runs' : `501 ${when}`
}

const configTable = (rows: readonly Row[]): string =>
  table(
    ['Field', 'Type', 'What it does', 'In this release'],
    rows.map(({ name, type, about }) => [
      code(name),
      type,
      cell([about, secretConfigFields.has(name) ? 'Secret.' : ''].filter(Boolean).join(' ')),
      state(name),
    ]),
  )

/** The generated parts of `docs/guide/configs.md`. */
export function configParts(): Readonly<Record<string, string>> {
  const rows = fieldRows(gatewayConfig)
  const names = rows.map(({ name }) => name).filter((name) => providerFieldNames.has(name))
  return {
    fields: configTable(rows.filter(({ name }) => !providerFieldNames.has(name) && !unreadFieldNames.has(name))),
    strategy: fieldTable(fieldRows(strategy)),
    retry: fieldTable(fieldRows(retry)),
    cache: fieldTable(fieldRows(cache)),
    breaker: fieldTable(fieldRows(breaker)),
    'provider-fields': names
      .toSorted()
      .map((name) => (secretConfigFields.has(name) ? `\`${name}\` (secret)` : `\`${name}\``))
      .join(', '),
    'unread-fields': [...unreadFieldNames].toSorted().map(code).join(', '),
  }
}
