// Writes a package.json and a package-lock.json with a part of this project's packages: `node docker/manifest.mjs <folder> [tool …]` gives
// the packages that the program needs, or the named tools of development (a scope names all of it) and nothing else.
// `npm ci` wants the registry to know every package of the lock file, for every platform, so what a build does not need must go before
// it runs, and not by `--omit=dev`. The packages that bring Node go too: the base image has it.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const root = path.resolve(import.meta.dirname, '..')
const [folder, ...tools] = process.argv.slice(2)
const read = (name) => JSON.parse(readFileSync(path.join(root, name), 'utf8'))
const isTool = (name) => tools.some((tool) => name === tool || name.startsWith(`${tool}/`))

function part({ dependencies, devDependencies, optionalDependencies: _, ...rest }) {
  if (tools.length === 0) return { ...rest, dependencies }
  return { ...rest, devDependencies: Object.fromEntries(Object.entries(devDependencies).filter(([name]) => isTool(name))) }
}

const lock = read('package-lock.json')
mkdirSync(folder, { recursive: true })
const write = (name, value) => writeFileSync(path.join(folder, name), `${JSON.stringify(value, null, 2)}\n`)
write('package.json', part(read('package.json')))
write('package-lock.json', { ...lock, packages: { ...lock.packages, '': part(lock.packages['']) } })
