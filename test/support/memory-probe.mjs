// Loaded before the product (`--import`): answers on the socket that MEMORY_PROBE names, one JSON line in and one out.
// {"do":"measure"}: what is alive in each thread after a full collection. {"do":"snapshot","folder":…}: a heap snapshot of each.
// {"do":"leak"}: from now on every request leaves one small object behind, so that a measurement can show that it sees it.
import { subscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:net'
import { setFlagsFromString, writeHeapSnapshot } from 'node:v8'
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

const left = []
const deeds = {
  measure,
  snapshot: ({ folder }) => writeHeapSnapshot(`${folder}/${isMainThread ? 'main' : 'journal'}-${Date.now()}.heapsnapshot`),
  leak: () => subscribe('http.server.request.start', () => left.push(Array(25).fill(performance.now()))),
}

if (isMainThread) serve()
else channel.onmessage = ({ data }) => data.asked && channel.postMessage({ answer: deeds[data.asked.do](data.asked), threadId })

/** One question at a time. */
function serve() {
  const server = createServer((socket) => {
    socket.setEncoding('utf8')
    socket.once('data', async (line) => {
      const asked = JSON.parse(line)
      const own = asked.do === 'leak' ? deeds.leak() : await askAll(asked)
      socket.end(`${JSON.stringify(own ?? null)}\n`)
    })
  })
  server.listen(process.env['MEMORY_PROBE']).unref()
}

/** The product has one more thread, for its journal. */
async function askAll(asked) {
  const { promise, resolve } = Promise.withResolvers()
  channel.onmessage = ({ data }) => resolve(data.answer)
  channel.ref()
  channel.postMessage({ asked })
  const journal = await promise
  channel.unref()
  return { journal, main: deeds[asked.do](asked) }
}
