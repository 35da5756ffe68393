import type { Environment } from './environment.ts'

/** The environment of this process: the one place that reads it. */
export const environment = (): Environment => process.env
