import type { Config } from '../../config/config.ts'
import type { Deps } from '../deps.ts'

/** How a process starts. */
export interface StartMode {
  /** It brings the schema up itself; else it waits for `gatehouse migrate`, live and not ready. An embedded database is always brought up. */
  readonly migrates: boolean
  /** An operator deployed it: it refuses a chart that is too old and a wrong encryption key. Else no chart is asked for, and a wrong key seals. */
  readonly deployed: boolean
  /** It is a checkout, whose web console is built once the process serves. */
  readonly buildsConsole?: boolean
  /** It has a provider of its own, to try things out with. */
  readonly demo?: Demo
}

/** A provider that runs in this process. */
export interface Demo {
  /** Stores the provider for the first organisation. */
  readonly provide: (deps: Deps) => Promise<void>
}

/** `npm start`: everything that is needed, and a server to look at even without the right key. */
export const interactive: StartMode = { migrates: true, deployed: false }

/** Returns how a process with a mode gets its schema. */
export const schemaOf = ({ migrates }: StartMode, { database }: Pick<Config, 'database'>): 'migrate' | 'wait' =>
  migrates || database.embedded ? 'migrate' : 'wait'
