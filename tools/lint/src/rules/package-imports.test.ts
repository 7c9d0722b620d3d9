import { packageImports, type PackageImportsOptions } from './package-imports.ts'
import { typescriptRuleTester } from './rule-tester.ts'

const options: [PackageImportsOptions] = [
  { typesOnly: ['@kube-ovn/kube'], forbidden: ['@kube-ovn/netlink'], cure: 'hand it in' },
]

typescriptRuleTester().run('package-imports', packageImports, {
  valid: [
    { code: `import type { Store } from '@kube-ovn/kube'`, options },
    { code: `import { type Store, type ObjectChange } from '@kube-ovn/kube'`, options },
    { code: `export type { Store } from '@kube-ovn/kube'`, options },
    {
      name: 'a package whose name begins alike',
      code: `import { pods } from '@kube-ovn/kube-api/core'`,
      options,
    },
  ],
  invalid: [
    { code: `import { KubeClient } from '@kube-ovn/kube'`, options, errors: [{ messageId: 'typesOnly' }] },
    {
      code: `import { type Store, Informer } from '@kube-ovn/kube'`,
      options,
      errors: [{ messageId: 'typesOnly' }],
    },
    { code: `import '@kube-ovn/kube'`, options, errors: [{ messageId: 'typesOnly' }] },
    { code: `export * from '@kube-ovn/kube'`, options, errors: [{ messageId: 'typesOnly' }] },
    { code: `const kube = await import('@kube-ovn/kube')`, options, errors: [{ messageId: 'typesOnly' }] },
    {
      code: `import { events } from '@kube-ovn/kube/events'`,
      options,
      errors: [{ message: 'Only types may be imported from @kube-ovn/kube/events: hand it in' }],
    },
    { code: `import type { Link } from '@kube-ovn/netlink'`, options, errors: [{ messageId: 'forbidden' }] },
  ],
})
