import { expect, it } from 'vitest'
import { krewManifest, platforms } from './executables.ts'

it('tells krew where the archive of each platform is, and what is in it', () => {
  const archive = {
    os: 'windows',
    arch: 'amd64',
    file: 'x.tar.gz',
    sha256: 'ab',
    executable: 'kubectl-ko.exe',
  } as const
  expect(krewManifest([archive], 'https://example.com/v1/')).toMatchObject({
    kind: 'Plugin',
    metadata: { name: 'ko' },
    spec: {
      version: expect.stringMatching(/^v\d/),
      platforms: [
        {
          selector: { matchLabels: { os: 'windows', arch: 'amd64' } },
          uri: 'https://example.com/v1/x.tar.gz',
          sha256: 'ab',
          bin: 'kubectl-ko.exe',
        },
      ],
    },
  })
})

/** What krew refuses, and what its index asks of a manifest beside that. See krew's internal/index/validation. */
it('is a manifest that krew takes', () => {
  const archives = platforms.map((platform) => ({
    ...platform,
    ...{ file: `kubectl-ko-${platform.os}-${platform.arch}.tar.gz`, sha256: 'a'.repeat(64) },
    executable: platform.os === 'windows' ? 'kubectl-ko.exe' : 'kubectl-ko',
  }))
  const { apiVersion, kind, metadata, spec } = krewManifest(archives, 'https://example.com/v1') as Manifest
  expect({ apiVersion, kind }).toEqual({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
  })
  expect(metadata.name).toMatch(/^[\w-]+$/)
  expect(spec.version).toMatch(/^v\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?$/)
  expect(spec.shortDescription).toMatch(/^[^\n]{1,50}$/)
  expect(spec.shortDescription).not.toMatch(/\.$/)
  expect(spec.description).toMatch(/./)
  expect(spec.homepage).toMatch(/^https:\/\//)
  const seen = spec.platforms.map(({ selector }) => selector.matchLabels)
  expect(seen).toEqual(
    ['linux', 'darwin', 'windows'].flatMap((os) => ['amd64', 'arm64'].map((arch) => ({ os, arch }))),
  )
  for (const { uri, sha256, bin, files } of spec.platforms) {
    expect(uri).toMatch(/^https:\/\/.*\.tar\.gz$/)
    expect(sha256).toMatch(/^[a-f0-9]{64}$/)
    // It links what it has moved, by the name kubectl-ko.
    expect(files.every(({ from, to }) => from !== '' && to === '.')).toBe(true)
    expect(files.map(({ from }) => from)).toEqual([bin, 'LICENSE'])
  }
})

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly version: string
    readonly homepage: string
    readonly shortDescription: string
    readonly description: string
    readonly platforms: readonly {
      readonly selector: { readonly matchLabels: Readonly<Record<string, string>> }
      readonly uri: string
      readonly sha256: string
      readonly bin: string
      readonly files: readonly { readonly from: string; readonly to: string }[]
    }[]
  }
}
