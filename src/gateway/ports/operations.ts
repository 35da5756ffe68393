/** The operations of the data plane: their names, paths and schemas. */
export { bodySchemas, querySchemas } from '../bounds/validate.ts'
export { frontOf, fronts, isGooglePath, ownVersion, pathBehind } from '../operations/fronts.ts'
export { mcpOperation } from '../mcp/client/account.ts'
export { type McpPath, mcpPathOf } from '../mcp/client/paths.ts'
export { matchOperation, plainPath } from '../operations/match.ts'
export { modelOperations, type Operation, operations, type OperationSpec } from '../operations/operations.ts'
