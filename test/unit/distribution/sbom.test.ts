import test from 'ava'
import { npmComponents } from '../../../tools/release/sbom/components.ts'
import { debianComponents, osOf } from '../../../tools/release/sbom/debian.ts'
import { upstreamVersion } from '../../../tools/release/sbom/cpe.ts'
import { endedBy } from '../../../tools/release/sbom/end-of-life.ts'
import { nodeComponents, nodeVersionOf } from '../../../tools/release/sbom/node.ts'

const lock = JSON.stringify({
  packages: {
    '': { name: 'gatehouse', dependencies: { a: '1' } },
    'node_modules/a': { version: '1.0.0', license: 'MIT', dependencies: { '@s/b': '2', c: '3', absent: '1' } },
    'node_modules/a/node_modules/c': { version: '3.0.0', license: '(MIT OR Apache-2.0)', optionalDependencies: { '@s/b': '2' } },
    'node_modules/@s/b': { version: '2.0.0', license: 'SEE LICENSE IN FILE', integrity: 'sha512-AAEC', dependencies: { c: '4' } },
    'node_modules/c': { version: '4.0.0' },
  },
})

test('npm packages carry their address, licence, hash, and what they use as Node finds it', (t) => {
  const found = npmComponents(lock)
  t.deepEqual(
    found.map(({ component, uses }) => [component.purl, uses]),
    [
      ['pkg:npm/a@1.0.0', ['pkg:npm/%40s/b@2.0.0', 'pkg:npm/c@3.0.0']],
      ['pkg:npm/c@3.0.0', ['pkg:npm/%40s/b@2.0.0']],
      ['pkg:npm/%40s/b@2.0.0', ['pkg:npm/c@4.0.0']],
      ['pkg:npm/c@4.0.0', []],
    ],
  )
  const licences = found.map(({ component }) => component.licenses?.[0])
  t.deepEqual(licences, [
    { expression: 'MIT' },
    { expression: '(MIT OR Apache-2.0)' },
    { license: { name: 'SEE LICENSE IN FILE' } },
    undefined,
  ])
  t.deepEqual(found[2]?.component.hashes, [{ alg: 'SHA-512', content: '000102' }])
})

test('Debian packages that are installed carry their address and their source', (t) => {
  const status = [
    'Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nSource: glibc\nVersion: 2.36-9+deb12u14\nMaintainer: GNU Libc <x@y>\nDescription: C\n Library: of C',
    'Package: dash\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:0.5.12-2\nMaintainer: M',
    'Package: gone\nStatus: deinstall ok config-files\nArchitecture: amd64\nVersion: 1',
  ].join('\n\n')
  t.deepEqual(
    debianComponents(status, { distribution: 'debian-12', copyright: () => null, libraries: () => [] }).map(({ purl, supplier }) => [
      purl,
      supplier?.name,
    ]),
    [
      ['pkg:deb/debian/libc6@2.36-9%2Bdeb12u14?arch=amd64&distro=debian-12&upstream=glibc', 'GNU Libc <x@y>'],
      ['pkg:deb/debian/dash@1%3A0.5.12-2?arch=amd64&distro=debian-12', 'M'],
    ],
  )
})

test('the distribution and Node are known by their own files', (t) => {
  t.deepEqual(osOf('PRETTY_NAME="Debian 12"\nID=debian\nVERSION_ID="12"\n'), { id: 'debian', version: '12', title: 'Debian 12' })
  t.is(nodeVersionOf('#define NODE_MAJOR_VERSION 24\n#define NODE_MINOR_VERSION 21\n#define NODE_PATCH_VERSION 0\n'), '24.21.0')
  t.is(nodeVersionOf(''), null)
})

test('shared libraries carry the version of their makers, the name that scanners look up, and where they lie', (t) => {
  const status = 'Package: libxml2\nArchitecture: amd64\nVersion: 2.12.7+dfsg+really2.9.14-2.1+deb13u3'
  const copyright =
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: MIT-1\n\nLicense: ISC\n text\n'
  const library = { path: 'usr/lib/x86_64-linux-gnu/libxml2.so.2.9.14', sha256: 'ab' }
  const [component] = debianComponents(status, { distribution: 'debian-13', copyright: () => copyright, libraries: () => [library] })
  t.is(component?.cpe, 'cpe:2.3:a:xmlsoft:libxml2:2.9.14:*:*:*:*:*:*:*')
  t.deepEqual(component?.licenses, [{ license: { name: 'ISC' } }, { license: { name: 'MIT-1' } }])
  t.like(component?.components?.[0], {
    name: 'libxml2.so.2.9.14',
    version: '2.9.14',
    cpe: 'cpe:2.3:a:xmlsoft:libxml2:2.9.14:*:*:*:*:*:*:*',
    evidence: { occurrences: [{ location: '/usr/lib/x86_64-linux-gnu/libxml2.so.2.9.14' }] },
  })
})

const versionTable = [
  ['1:1.3.dfsg+really1.3.1-1+deb13u1', '1.3.1'],
  ['3.5.7-1~deb13u3', '3.5.7'],
  ['1.5.7+dfsg-1', '1.5.7'],
  ['2.41-12+deb13u4', '2.41'],
  ['13.8+deb13u7', '13.8'],
  ['257.13-1~deb13u1', '257.13'],
] as const
for (const [debian, upstream] of versionTable)
  test(`the maker's version in ${debian} is ${upstream}`, (t) => t.is(upstreamVersion(debian), upstream))

test('Node carries what it was built with', (t) => {
  const header = '#define NODE_MAJOR_VERSION 24\n#define NODE_MINOR_VERSION 21\n#define NODE_PATCH_VERSION 0\n'
  const [node] = nodeComponents(header, JSON.stringify({ node: '24.21.0', openssl: '3.5.8', modules: '137', nghttp3: '', acorn: '8.18.0' }))
  t.is(node?.cpe, 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*')
  t.deepEqual(
    node?.components?.map(({ name, version, cpe }) => [name, version, cpe]),
    [
      ['openssl', '3.5.8', 'cpe:2.3:a:openssl:openssl:3.5.8:*:*:*:*:*:*:*'],
      ['acorn', '8.18.0', undefined],
    ],
  )
})

const component = (name: string, version: string, purl = '') => ({ type: 'library', 'bom-ref': name, name, version, purl }) as const

test('what nobody mends any more is found, and so is a line that the table does not know', (t) => {
  const components = [
    { ...component('node', '24.21.0'), components: [component('openssl', '1.1.1w')] },
    component('openssl', '9.9.9'),
    component('openssl', '1.1.1w', 'pkg:deb/debian/openssl@1.1.1w'),
    component('postgresql-13', '13.22-0+deb11u1', 'pkg:deb/debian/postgresql-13@13.22'),
    component('debian', '12'),
    component('left-pad', '1.0.0'),
  ]
  t.deepEqual(endedBy('2026-11-22', components), [
    { name: 'openssl', version: '1.1.1w', until: '2023-09-11' },
    { name: 'openssl', version: '9.9.9', until: null },
    { name: 'postgresql', version: '13.22-0+deb11u1', until: null },
    { name: 'debian', version: '12', until: '2026-06-10' },
  ])
})
