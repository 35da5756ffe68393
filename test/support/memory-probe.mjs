// Loaded before a program (`--import`): answers on the socket that MEMORY_PROBE names, one JSON line in and one out, for each thread.
// {"do":"measure"}: what is alive after a full collection. {"do":"snapshot","folder":…}: a heap snapshot of each.
// {"do":"watch"} and then {"do":"allocated"}: the bytes of objects that were made between the two, as far as a collection has seen them.
// {"do":"sample"} and then {"do":"sites","folder":…}: a profile of where those were made, for DevTools and `bench/sites.ts`.
// {"do":"time"} and then {"do":"timed","folder":…}: a profile of where CPU time went between the two.
// {"do":"leak"}: from now on every request leaves a small object behind, so that a measurement can show that it sees it.
import { subscribe } from 'node:diagnostics_channel'
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { createServer } from 'node:net'
import { GCProfiler, setFlagsFromString, writeHeapSnapshot } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')
const channel = new BroadcastChannel('memory-probe')
channel.unref()

/** Of this thread; `rss` is the process's. */
function measure() {
  // The second takes what finalizers let go of.
  for (let turn = 0; turn < 2; turn += 1) collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed, external, rss }
}

let profiler = null
function watch() {
  profiler = new GCProfiler()
  profiler.start()
}

/** Between two collections the heap grows by what was made. */
function allocated() {
  const seen = profiler
    .stop()
    .statistics.map(({ beforeGC, afterGC }) => [beforeGC.heapStatistics.usedHeapSize, afterGC.heapStatistics.usedHeapSize])
  return seen.slice(1).reduce((sum, [before], at) => sum + Math.max(0, before - seen[at][1]), 0)
}

/** Objects that were collected meanwhile count too: what is alive at the end says nothing of what was made. */
const sampling = { samplingInterval: 8192, includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
const session = new Session()

function sample() {
  session.connect()
  session.post('HeapProfiler.startSampling', sampling)
}

/** The answer of an inspector of its own thread comes at once. */
function sites({ folder }) {
  const file = `${folder}/thread-${threadId}-${Date.now()}.heapprofile`
  session.post('HeapProfiler.stopSampling', (error, { profile }) => writeFileSync(file, JSON.stringify(profile)))
  session.disconnect()
  return file
}

function time() {
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.setSamplingInterval', { interval: 200 })
  session.post('Profiler.start')
}

function timed({ folder }) {
  const file = `${folder}/thread-${threadId}-${Date.now()}.cpuprofile`
  session.post('Profiler.stop', (error, { profile }) => writeFileSync(file, JSON.stringify(profile)))
  session.disconnect()
  return file
}

const left = []
const leak = () => isMainThread && subscribe('http.server.request.start', () => left.push(Array(25).fill(performance.now())))
const snapshot = ({ folder }) => writeHeapSnapshot(`${folder}/thread-${threadId}-${Date.now()}.heapsnapshot`)
const deeds = { measure, snapshot, watch, allocated, sample, sites, time, timed, leak }
const answerTo = (asked) => deeds[asked.do](asked) ?? null

let others = 0
if (isMainThread) serve()
else {
  channel.onmessage = ({ data }) => data.asked && channel.postMessage({ answer: answerTo(data.asked) })
  channel.postMessage({ present: true })
}

/** One question at a time. */
function serve() {
  channel.onmessage = ({ data }) => data.present && (others += 1)
  const server = createServer((socket) => {
    socket.setEncoding('utf8')
    socket.once('data', async (line) => {
      const asked = JSON.parse(line)
      const rest = others === 0 ? [] : await askOthers(asked)
      socket.end(`${JSON.stringify({ main: answerTo(asked), others: rest })}\n`)
    })
  })
  server.listen(process.env['MEMORY_PROBE']).unref()
}

async function askOthers(asked) {
  const { promise, resolve } = Promise.withResolvers()
  const answers = []
  channel.onmessage = ({ data }) => 'answer' in data && answers.push(data.answer) === others && resolve(answers)
  channel.ref()
  channel.postMessage({ asked })
  await promise
  channel.unref()
  return answers
}
