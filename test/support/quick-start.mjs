// Each process of a test file loads this first, and so does each of its threads: the sources load sooner, and the run learns the cost of the file.
import { appendFileSync, readFileSync } from 'node:fs'
import { enableCompileCache, registerHooks } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

// Threads of the product have no environment, which names the cache.
const name = 'NODE_COMPILE_CACHE'
if (isMainThread) setEnvironmentData(name, process.env[name])
const cache = getEnvironmentData(name)
if (!isMainThread && cache !== undefined) enableCompileCache(cache)

// Sources name each other by whole paths, so that nothing has to be looked for.
let testFile = null
registerHooks({
  resolve(specifier, context, next) {
    if (testFile === null && specifier.startsWith('file:') && specifier.endsWith('.test.ts')) testFile = fileURLToPath(specifier)
    if (!/^\.\.?\/.*\.ts$/.test(specifier) || context.parentURL === undefined) return next(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
  },
})

// `scripts/test.ts` names the record: one line of JSON for each test file.
const record = process.env['GATEHOUSE_TEST_RECORD']
if (isMainThread && record !== undefined)
  process.on('exit', () => {
    if (testFile === null) return
    const { user, system } = process.cpuUsage()
    const cost = { wallMs: performance.now(), cpuMs: (user + system) / 1000, childrenMs: cpuOfChildren() }
    const file = path.relative(process.cwd(), testFile)
    appendFileSync(record, `${JSON.stringify({ file, ...round(cost) })}\n`)
  })

const round = (cost) => Object.fromEntries(Object.entries(cost).map(([part, ms]) => [part, Math.round(ms)]))

/** Returns the milliseconds of CPU of ended children. Linux counts them in hundredths of a second, as the 16th and 17th field; elsewhere 0. */
function cpuOfChildren() {
  try {
    const status = readFileSync('/proc/self/stat', 'latin1')
    const [userTicks, systemTicks] = status
      .slice(status.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15)
    return (Number(userTicks) + Number(systemTicks)) * 10
  } catch {
    return 0
  }
}
