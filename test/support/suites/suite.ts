// Several test files in one process, one file after the other: the sources are loaded once for all of them. `scripts/test-suites.ts` writes the
// files of suites; in them, `ava` is the `test` of `file-tests.ts`, which keeps the tests of each file until all are known.
import { appendFileSync } from 'node:fs'
import ava, { type ExecutionContext } from 'ava'
import { cpuOfChildren } from '../children-cpu.ts'

type Implementation = (t: ExecutionContext, ...args: readonly unknown[]) => unknown
type Hook = (t: ExecutionContext) => unknown

interface Macro {
  readonly exec: Implementation
  readonly title?: (title: string | undefined, ...args: readonly unknown[]) => string
}

interface KeptTest {
  readonly title: string
  readonly run: (t: ExecutionContext) => unknown
  readonly skipped: boolean
}

const hookNames = ['before', 'after', 'afterAlways', 'beforeEach', 'afterEach', 'afterEachAlways'] as const
type HookName = (typeof hookNames)[number]

interface FileTests {
  readonly hooks: Readonly<Record<HookName, Hook[]>>
  readonly serial: KeptTest[]
  readonly concurrent: KeptTest[]
}

const files = new Map<string, FileTests>()

function testsIn(file: string): FileTests {
  const known = files.get(file)
  if (known !== undefined) return known
  const hooks = Object.fromEntries(hookNames.map((name) => [name, [] as Hook[]])) as unknown as FileTests['hooks']
  const made: FileTests = { hooks, serial: [], concurrent: [] }
  files.set(file, made)
  return made
}

const keeper =
  (kept: KeptTest[], skipped = false) =>
  (...args: unknown[]) =>
    void kept.push(keptTest(args, skipped))

/** Returns the `test` of a file: the part of ava's that the files of suites use. */
export function testOf(file: string): object {
  const { hooks, serial, concurrent } = testsIn(file)
  const hook = (name: HookName) => (run: Hook) => void hooks[name].push(run)
  return Object.assign(keeper(concurrent), {
    skip: keeper(concurrent, true),
    serial: Object.assign(keeper(serial), { skip: keeper(serial, true) }),
    macro: (given: Implementation | Macro): Macro => (typeof given === 'function' ? { exec: given } : given),
    before: hook('before'),
    after: Object.assign(hook('after'), { always: hook('afterAlways') }),
    beforeEach: hook('beforeEach'),
    afterEach: Object.assign(hook('afterEach'), { always: hook('afterEachAlways') }),
  })
}

/** Reads the arguments of a test as ava does: a title, an implementation or a macro, and what is passed on to it. */
function keptTest(args: readonly unknown[], skipped: boolean): KeptTest {
  const [raw, given, ...rest] = typeof args[0] === 'string' ? args : [undefined, ...args]
  const { exec, title } = typeof given === 'function' ? { exec: given as Implementation, title: undefined } : (given as Macro)
  const text = title === undefined ? (raw as string) : title(raw as string | undefined, ...rest)
  return { title: text.trim().replaceAll(/\s+/g, ' '), run: (t) => exec(t, ...rest), skipped }
}

interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
  readonly childrenMs: number
}

function costNow(): Cost {
  const { user, system } = process.cpuUsage()
  return { wallMs: performance.now(), cpuMs: (user + system) / 1000, childrenMs: cpuOfChildren() }
}

const costSince = (from: Cost, to = costNow()): Cost => ({
  wallMs: to.wallMs - from.wallMs,
  cpuMs: to.cpuMs - from.cpuMs,
  childrenMs: to.childrenMs - from.childrenMs,
})

const record = process.env['GATEHOUSE_TEST_RECORD']

function recordCost(file: string, loading: Cost, running: Cost): void {
  if (record === undefined) return
  const sum = (part: keyof Cost): number => Math.round(loading[part] + running[part])
  appendFileSync(record, `${JSON.stringify({ file, wallMs: sum('wallMs'), cpuMs: sum('cpuMs'), childrenMs: sum('childrenMs') })}\n`)
}

interface Failure {
  readonly file: string
  readonly error: unknown
}

/** Loads test files, and runs their tests. `names`: their paths from the root of the project. */
export async function runSuite(names: readonly string[]): Promise<void> {
  const loading: Cost[] = []
  for (const name of names) {
    const from = costNow()
    await import(new URL(`../../../${name}`, import.meta.url).href)
    loading.push(costSince(from))
  }
  // From here to the end without a pause: ava begins with the tests that it has by then.
  const failures: Failure[] = []
  let ended = Promise.resolve()
  names.forEach((file, at) => {
    const running = register(file, ended)
    ended = running.then(
      (cost) => recordCost(file, loading[at] ?? cost, cost),
      (error: unknown) => void failures.push({ file, error }),
    )
  })
  ava.after.always('hooks at the ends of files', async () => {
    await ended
    if (failures.length > 0)
      throw new AggregateError(
        failures.map(({ error }) => error),
        failures.map(({ file }) => file).join(', '),
      )
  })
}

const prefixOf = (file: string): string =>
  file
    .replace(/^test\//, '')
    .replace(/\.test\.ts$/, '')
    .replaceAll('/', ' › ')

/**
 * Hands the tests of a file to ava, which starts all tests of a suite at once: each waits for its turn. Returns the cost of the file when its last hook
 * has ended.
 */
async function register(file: string, before: Promise<void>): Promise<Cost> {
  const { hooks, serial, concurrent } = testsIn(file)
  let begun: Promise<Cost> | undefined
  // The first test that asks lends the hooks its context.
  const begin = (t: ExecutionContext): Promise<Cost> => (begun ??= before.then(() => runHooks(hooks.before, t)))
  const add = ({ title, run, skipped }: KeptTest, turn: Promise<void>): Promise<void> => {
    const { promise: end, resolve } = Promise.withResolvers<void>()
    const full = `${prefixOf(file)} › ${title}`
    if (skipped) {
      ava.skip(full, () => {})
      return turn
    }
    ava(full, async (t) => {
      // The first that is registered is the last that runs.
      t.teardown(resolve)
      await turn
      await begin(t)
      await runBetween(hooks, t, run)
    })
    return end
  }
  let last = Promise.resolve()
  for (const one of serial) last = add(one, last)
  const ends = concurrent.map((one) => add(one, last))
  await Promise.all([before, last, ...ends])
  // Each test has failed by the error of a hook before it.
  const from = (await begun?.catch(() => undefined)) ?? costNow()
  for (const hook of [...hooks.after, ...hooks.afterAlways]) await hook(undefined as unknown as ExecutionContext)
  return costSince(from)
}

async function runHooks(hooks: readonly Hook[], t: ExecutionContext): Promise<Cost> {
  const from = costNow()
  for (const hook of hooks) await hook(t)
  return from
}

async function runBetween(hooks: FileTests['hooks'], t: ExecutionContext, run: KeptTest['run']): Promise<void> {
  try {
    for (const hook of hooks.beforeEach) await hook(t)
    await run(t)
    for (const hook of hooks.afterEach) await hook(t)
  } finally {
    for (const hook of hooks.afterEachAlways) await hook(t)
  }
}
