import { expect, it } from 'vitest'
import { dependencyEdits, newDependencies } from './dependencies.ts'

const folder = 'libs/features/policies'
const needed = {
  dependencies: {
    '@kube-ovn/kube-api': 'libs/model/kube-api',
    '@kube-ovn/reconcile': 'libs/runtime/reconcile',
  },
  devDependencies: { '@kube-ovn/testing-builders': 'libs/testing/builders' },
}
const lock = `importers:

  libs/features/policies:
    dependencies:
      '@kube-ovn/errors':
        specifier: workspace:*
        version: link:../../core/errors
      '@kube-ovn/reconcile':
        specifier: workspace:*
        version: link:../../runtime/reconcile

  libs/io/kube:
    dependencies:
      undici:
        specifier: 'catalog:'
        version: 8.12.0
`

it('adds what a project lacks to its manifest and to the lock, in their order', () => {
  const manifest = {
    dependencies: { '@kube-ovn/errors': 'workspace:*', '@kube-ovn/reconcile': 'workspace:*' },
  }
  const [ofManifest, ofLock] = dependencyEdits(folder, newDependencies(folder, manifest, needed))
  expect(JSON.parse(ofManifest?.edit(JSON.stringify({ name: 'policies', ...manifest })) ?? '')).toEqual({
    name: 'policies',
    dependencies: {
      '@kube-ovn/errors': 'workspace:*',
      '@kube-ovn/kube-api': 'workspace:*',
      '@kube-ovn/reconcile': 'workspace:*',
    },
    devDependencies: { '@kube-ovn/testing-builders': 'workspace:*' },
  })
  expect(ofLock?.edit(lock)).toBe(
    lock
      .replace(
        `      '@kube-ovn/reconcile'`,
        `      '@kube-ovn/kube-api':\n        specifier: workspace:*\n        version: link:../../model/kube-api\n      '@kube-ovn/reconcile'`,
      )
      .replace(
        '\n\n  libs/io',
        `\n    devDependencies:\n      '@kube-ovn/testing-builders':\n        specifier: workspace:*\n        version: link:../../testing/builders\n\n  libs/io`,
      ),
  )
})

it('touches nothing where all is there', () => {
  const manifest = { dependencies: needed.dependencies, devDependencies: needed.devDependencies }
  expect(dependencyEdits(folder, newDependencies(folder, manifest, needed))).toEqual([])
})
