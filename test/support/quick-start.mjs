// What each process of a test file loads first, and each of its threads: they load the sources sooner.
import { enableCompileCache, registerHooks } from 'node:module'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

// Threads of the product have no environment, which names the cache.
const name = 'NODE_COMPILE_CACHE'
if (isMainThread) setEnvironmentData(name, process.env[name])
const cache = getEnvironmentData(name)
if (!isMainThread && cache !== undefined) enableCompileCache(cache)

// Sources name each other by whole paths, so that nothing has to be looked for.
registerHooks({
  resolve(specifier, context, next) {
    if (!/^\.\.?\/.*\.ts$/.test(specifier) || context.parentURL === undefined) return next(specifier, context)
    return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
  },
})
