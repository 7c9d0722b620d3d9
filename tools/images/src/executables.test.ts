import { expect, it } from 'vitest'
import { krewManifest } from './executables.ts'

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
