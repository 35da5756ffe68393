import test from 'ava'
import { debianComponents, nodeVersionOf, npmComponents, osOf } from '../../../src/distribution/sbom/components.ts'

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
    debianComponents(status, 'debian-12').map(({ purl, supplier }) => [purl, supplier?.name]),
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
