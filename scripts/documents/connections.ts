import { settings } from '../../src/config/index.ts'
import { besidesPool, namedSessions, sidePoolName } from '../../src/config/side-sessions.ts'
import { table } from './parameter-table.ts'

const poolSize = Number(settings.DB_POOL_SIZE.default)

/** Returns the generated part of `docs/operations/sizing.md`: the database connections of a process. */
export const connectionParts = (): Readonly<Record<string, string>> => ({
  connections: [
    `A process opens at most \`DB_POOL_SIZE\` + ${besidesPool} connections: ${poolSize + besidesPool} with the default of ${poolSize}. Multiply that by the processes of`,
    `all pods (\`WORKERS\` in each), and leave room for one more pod while an upgrade rolls out. \`gatehouse preflight\` compares the figure with`,
    '`max_connections` of PostgreSQL. Most connections are opened when they are needed, and closed when they are idle. The uses under the name',
    `\`${sidePoolName}\` share one pool; none of them takes more of it than its figure, so that none waits for another:`,
    '',
    table(
      ['Name', 'Connections', 'Used to'],
      [
        ['the pool', '`DB_POOL_SIZE`', 'serve requests of the control plane, and jobs'],
        ...namedSessions.map(({ name, most, work }) => [`\`${name}\``, String(most), work]),
      ],
    ),
  ].join('\n'),
})
