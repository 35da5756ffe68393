import type { Config } from '../../config/config.ts'

/** How a process starts. */
export interface StartMode {
  /** It brings the schema up itself; else it waits for `gatehouse migrate`, live and not ready. An embedded database is always brought up. */
  readonly migrates: boolean
  /** An operator deployed it: it refuses a chart that is too old and a wrong encryption key. Else no chart is asked for, and a wrong key seals. */
  readonly deployed: boolean
  /** It is a checkout, whose web console is built once the process serves. */
  readonly buildsConsole?: boolean
}

/** `npm start`: everything that is needed, and a server to look at even without the right key. */
export const interactive: StartMode = { migrates: true, deployed: false }

/** Returns how a process with a mode gets its schema. */
export const schemaOf = ({ migrates }: StartMode, { database }: Pick<Config, 'database'>): 'migrate' | 'wait' =>
  migrates || database.embedded ? 'migrate' : 'wait'
