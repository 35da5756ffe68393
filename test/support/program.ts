import path from 'node:path'

const sources = path.resolve(import.meta.dirname, '../../src')
/** The folder of the built program: `npm test` builds it, so that its processes run the same files as images; absent: they run the sources. */
const built = process.env['GATEHOUSE_TEST_PROGRAM']

/** Returns the file that Node runs: the server of `npm start`, or the command line. */
export function programFile(name: 'main' | 'gatehouse'): string {
  if (built !== undefined) return path.join(built, `${name}.js`)
  return path.join(sources, name === 'main' ? 'main.ts' : 'cli/gatehouse.ts')
}
