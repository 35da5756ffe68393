const { PATH = '', NODE_COMPILE_CACHE } = process.env

/** What each Node that a test starts has of our own environment: a start costs half with what an earlier one has compiled. */
export const nodeEnvironment: Readonly<Record<string, string>> = {
  PATH,
  NODE_NO_WARNINGS: '1',
  ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
}
