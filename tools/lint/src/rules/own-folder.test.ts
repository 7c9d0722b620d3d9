import { ownFolder } from './own-folder.ts'
import { typescriptRuleTester } from './rule-tester.ts'

const area = '/repository/libs/features/network/src'
const errors = [{ messageId: 'outside' }]

typescriptRuleTester().run('own-folder', ownFolder, {
  valid: [
    { filename: `${area}/vpc/feature.ts`, code: `import { desiredVpc } from './desired.ts'` },
    { filename: `${area}/vpc/rows/router.ts`, code: `import { desiredVpc } from '../desired.ts'` },
    { filename: `${area}/vpc/feature.ts`, code: `import { nothing } from '@kube-ovn/reconcile'` },
    { name: 'the door', filename: `${area}/index.ts`, code: `export { vpc } from './vpc/feature.ts'` },
  ],
  invalid: [
    { filename: `${area}/vpc/feature.ts`, code: `import { subnet } from '../subnet/feature.ts'`, errors },
    { filename: `${area}/vpc/feature.ts`, code: `import type { Row } from '../subnet/rows.ts'`, errors },
    { filename: `${area}/vpc/rows/router.ts`, code: `export * from '../../subnet/feature.ts'`, errors },
    { filename: `${area}/vpc/feature.ts`, code: `const all = await import('../index.ts')`, errors },
    {
      name: 'a folder whose name begins alike',
      filename: `${area}/subnet/feature.ts`,
      code: `import { gateway } from '../subnet-gw/desired.ts'`,
      errors,
    },
  ],
})
