// Each process of a test file loads this first, and so does each of its threads: the sources load sooner, and the run learns the cost of the file.
import { appendFileSync } from 'node:fs'
import { enableCompileCache, registerHooks } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'
import { cpuOfChildren } from './children-cpu.ts'

// Threads of the product have no environment, which names the cache.
const name = 'NODE_COMPILE_CACHE'
if (isMainThread) setEnvironmentData(name, process.env[name])
const cache = getEnvironmentData(name)
if (!isMainThread && cache !== undefined) enableCompileCache(cache)

const root = path.resolve(import.meta.dirname, '../..')
const suites = path.join(root, 'test', 'suites')
/** Returns true for a suite: a file that runs the tests of several others, and counts their costs itself. */
const isSuite = (file) => path.dirname(file) === suites

/** Returns the address of the module that stands for ava in a test file of a suite. */
function suiteTest(parentURL) {
  const of = new URL('./suites/file-tests.ts', import.meta.url)
  of.searchParams.set('file', path.relative(root, fileURLToPath(parentURL)))
  return { url: of.href, format: 'module-typescript', shortCircuit: true }
}

// Sources name each other by whole paths, so that nothing has to be looked for.
let testFile = null
registerHooks({
  resolve(specifier, context, next) {
    if (testFile === null && specifier.startsWith('file:') && specifier.endsWith('.test.ts')) testFile = fileURLToPath(specifier)
    if (
      specifier === 'ava' &&
      testFile !== null &&
      isSuite(testFile) &&
      context.parentURL?.endsWith('.test.ts') &&
      !isSuite(fileURLToPath(context.parentURL))
    )
      return suiteTest(context.parentURL)
    if (!/^\.\.?\/.*\.ts$/.test(specifier) || context.parentURL === undefined) return next(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
  },
})

// `scripts/test.ts` names the record: one line of JSON for each test file.
const record = process.env['GATEHOUSE_TEST_RECORD']
if (isMainThread && record !== undefined)
  process.on('exit', () => {
    if (testFile === null || isSuite(testFile)) return
    const { user, system } = process.cpuUsage()
    const cost = { wallMs: performance.now(), cpuMs: (user + system) / 1000, childrenMs: cpuOfChildren() }
    const file = path.relative(process.cwd(), testFile)
    appendFileSync(record, `${JSON.stringify({ file, ...round(cost) })}\n`)
  })

const round = (cost) => Object.fromEntries(Object.entries(cost).map(([part, ms]) => [part, Math.round(ms)]))
