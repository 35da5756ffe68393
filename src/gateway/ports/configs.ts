/** Configs: their schema and their compilation. */
export { compileConfig, laterParts, unsupportedParts } from '../config/compile.ts'
export { configsWithin, gatewayConfig, type GatewayConfig, unbilledMirrors } from '../config/config.schema.ts'
