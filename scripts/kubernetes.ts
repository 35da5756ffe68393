// Builds a real Kubernetes API server and its etcd from their Go modules, for the tests that install the chart: `npm run kubernetes:build` (Go 1.24
// or newer; 5 to 10 minutes, once). They are kept outside the repository, in GATEHOUSE_KUBERNETES or below the user's cache folder; the tests use
// them when they are there and report it when they are not.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'

const kubernetes = '1.34.1'
const etcd = '3.6.5'

/** The place of the programs. */
export function kubernetesFolder(): string {
  const { GATEHOUSE_KUBERNETES: given, XDG_CACHE_HOME: cache } = process.env
  return given || path.join(cache || path.join(homedir(), '.cache'), 'gatehouse', `kubernetes-${kubernetes}`)
}

/** Both programs; null: they were not built. */
export function kubernetesPrograms(): { readonly apiServer: string; readonly etcd: string } | null {
  const found = { apiServer: path.join(kubernetesFolder(), 'kube-apiserver'), etcd: path.join(kubernetesFolder(), 'etcd') }
  return existsSync(found.apiServer) && existsSync(found.etcd) ? found : null
}

interface Wrapper {
  readonly name: string
  readonly module: string
  readonly main: string
  readonly variables: readonly string[]
  /** Modules that the module replaces by folders of its own, which its published form lacks. */
  readonly staged?: string
}

const wrappers: readonly Wrapper[] = [
  {
    name: 'etcd',
    module: `go.etcd.io/etcd/server/v3@v${etcd}`,
    main: 'package main\nimport ("os";"go.etcd.io/etcd/server/v3/etcdmain")\nfunc main(){etcdmain.Main(os.Args)}\n',
    variables: [],
  },
  {
    name: 'kube-apiserver',
    module: `k8s.io/kubernetes@v${kubernetes}`,
    main: 'package main\nimport ("os";"k8s.io/component-base/cli";"k8s.io/kubernetes/cmd/kube-apiserver/app")\nfunc main(){os.Exit(cli.Run(app.NewAPIServerCommand()))}\n',
    variables: ['gitVersion=v1.34.1', 'gitMajor=1', 'gitMinor=34'].map((given) => `-X k8s.io/component-base/version.${given}`),
    staged: `v0.${kubernetes.split('.').slice(1).join('.')}`,
  },
]

interface Manifest {
  readonly Require: readonly { readonly Path: string; readonly Version: string }[]
}

function build({ name, module, main, variables, staged }: Wrapper, into: string): void {
  const folder = mkdtempSync(path.join(tmpdir(), `gatehouse-${name}-`))
  const go = (...args: readonly string[]) =>
    execFileSync('go', args, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, CGO_ENABLED: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  try {
    go('mod', 'init', `gatehouse.test/${name}`)
    go('mod', 'edit', '-require', module)
    if (staged !== undefined) {
      const { GoMod } = JSON.parse(go('mod', 'download', '-json', module)) as { GoMod: string }
      const { Require } = JSON.parse(go('mod', 'edit', '-json', GoMod)) as Manifest
      for (const { Path } of Require.filter(({ Version }) => Version === 'v0.0.0'))
        go('mod', 'edit', '-replace', `${Path}=${Path}@${staged}`)
    }
    writeFileSync(path.join(folder, 'main.go'), main)
    go('mod', 'tidy')
    go('build', '-trimpath', '-ldflags', ['-s', '-w', ...variables].join(' '), '-o', path.join(into, `${name}.new`), '.')
    renameSync(path.join(into, `${name}.new`), path.join(into, name))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const into = kubernetesFolder()
  mkdirSync(into, { recursive: true })
  for (const wrapper of wrappers) {
    if (existsSync(path.join(into, wrapper.name))) continue
    console.log(`building ${wrapper.module} ...`)
    build(wrapper, into)
  }
  console.log(into)
}
