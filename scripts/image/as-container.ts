// Stands in the place of `src/cli/gatehouse.ts` of a build whose program is an image: takes its arguments and its environment, and becomes
// the runtime of a container that is run with them, so that signals and the exit code are the container's. The image is GATEHOUSE_IMAGE.
import { chmodSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import path from 'node:path'
import { writeContainer } from './container.ts'

const image = process.env['GATEHOUSE_IMAGE'] ?? ''
const runtime = process.env['GATEHOUSE_RUNTIME'] ?? ''
const { DATA_DIR: volume } = process.env
/** Faults of this machine, and not of Gatehouse. */
const ours = /^(?:GATEHOUSE_(?:IMAGE|RUNTIME)|DATA_DIR|PATH|HOME|NODE_.*)$/

if (volume !== undefined) chmodSync(volume, 0o770)
const parent = await mkdtemp(`${image}-`)
const bundle = path.join(parent, 'bundle')
const env = Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => !ours.test(pair[0])))
await writeContainer(bundle, image, { args: process.argv.slice(2), env, network: true, ...(volume !== undefined && { volume }) })
const id = `${path.basename(path.dirname(image))}-${path.basename(parent)}`
const args = ['--root', path.join(path.dirname(image), 'runtime'), 'run', '--bundle', bundle, id]
process.execve?.(runtime, [runtime, ...args], { PATH: process.env['PATH'] ?? '' })
throw new Error('this Node cannot become another program')
