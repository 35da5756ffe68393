// Makes the program that images and tests run: `node docker/bundle.mjs [project] [folder]`, where <project> holds src, package-lock.json and
// node_modules, and <folder>, `program` in it when absent, gets the files. A start that loads a few files and not thousands takes half the
// time, and less memory. Packages that the program opens by path stay outside: see `opened` of stage.mjs.
import { readdirSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'

const project = path.resolve(process.argv[2] ?? path.resolve(import.meta.dirname, '..'))
const folder = path.resolve(process.argv[3] ?? path.join(project, 'program'))

/** One flat folder, so that a thread is found beside whoever starts it. */
const threads = ['src/app/journal/journal-worker.ts', 'src/app/log-store/log-store-worker.ts', 'src/description-worker.ts']
const entryPoints = ['src/main.ts', 'src/cli/gatehouse.ts', ...threads].map((file) => ({
  in: file,
  out: path.basename(file, '.ts'),
}))

/** What packages look for and do without: it may be there in a checkout, and is in no image. */
const optional = ['dataloader', 'pg-native', 'supports-color', 'tinyglobby']

const { outputFiles, metafile } = await build({
  absWorkingDir: project,
  entryPoints,
  outdir: folder,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  tsconfigRaw: '{}',
  chunkNames: 'part-[hash]',
  external: optional,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
  // Packages of CommonJS call `require`, which a module has not.
  banner: { js: "import { createRequire as requireFrom } from 'node:module'\nconst require = requireFrom(import.meta.url)" },
})
demandShipped(Object.keys(metafile.inputs))
demandNames(metafile.inputs)
write(outputFiles)

/** Throws when a package is taken along that no image installs. */
function demandShipped(files) {
  const { packages } = JSON.parse(readFileSync(path.join(project, 'package-lock.json'), 'utf8'))
  for (const file of files) {
    const [place] = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []
    if (place !== undefined && packages[place]?.dev !== undefined) throw new Error(`${file} is of a package for development`)
  }
}

/** Throws when a package of CommonJS is imported where it is needed: only its default is there then, and its names are undefined. */
function demandNames(inputs) {
  for (const [file, { imports }] of Object.entries(inputs))
    for (const { path: imported, kind } of imports)
      if (kind === 'dynamic-import' && inputs[imported]?.format === 'cjs')
        throw new Error(`${file} imports ${imported}: let a module of ours export its names`)
}

/** Changes what is new and leaves the rest, so that a program that runs meanwhile goes on finding its parts. */
function write(files) {
  mkdirSync(folder, { recursive: true })
  const names = new Set(files.map((file) => path.basename(file.path)))
  for (const { path: file, text } of files) {
    if (readText(file) === text) continue
    writeFileSync(`${file}.${process.pid}`, text)
    renameSync(`${file}.${process.pid}`, file)
  }
  for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.js') && !names.has(entry))) rmSync(path.join(folder, name))
}

function readText(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
