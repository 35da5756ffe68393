import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import * as path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..')

/** Runs npm in a folder, without scripts of packages. */
export function runNpm(folder, command) {
  const flags = ['--ignore-scripts', '--include=optional', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  // npm empties node_modules, so it must not run from the Node inside; npm tells its scripts which Node and which npm started them.
  const { npm_execpath: cli, npm_node_execpath: node } = process.env
  const [file, ...first] = cli?.endsWith('.js') ? [node ?? process.execPath, cli] : ['npm']
  const env = { ...process.env, PATH: withoutModules(process.env.PATH ?? '') }
  const run = spawnSync(file, [...first, ...command, ...flags, ...cacheFlags()], { cwd: folder, env, encoding: 'utf8' })
  return { status: run.status, output: `${run.error?.message ?? ''}${run.stdout ?? ''}${run.stderr ?? ''}` }
}

function withoutModules(searchPath) {
  const own = path.join(root, 'node_modules', '.bin')
  return searchPath
    .split(path.delimiter)
    .filter((folder) => path.resolve(folder) !== own)
    .join(path.delimiter)
}

/** npm needs a cache that it can write, HOME or not. */
function cacheFlags() {
  const { npm_config_cache: configured, HOME: home } = process.env
  const cache = configured ?? (home ? path.join(home, '.npm') : null)
  return cache && writable(cache) ? [] : ['--cache', path.join(root, '.tools', 'npm-cache')]
}

function writable(folder) {
  if (!fs.existsSync(folder)) return path.dirname(folder) !== folder && writable(path.dirname(folder))
  try {
    fs.accessSync(folder, fs.constants.W_OK)
    return true
  } catch {
    return false
  }
}
