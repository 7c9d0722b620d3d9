/**
 * Draws in which order the rules of all policies are asked, from their tiers and priorities.
 *
 *     node tools/generate/src/tiers/main.ts            write
 *     node tools/generate/src/tiers/main.ts --check    exit 1 when the picture is stale
 */
import { writeGenerated } from '../generated-file.ts'
import { drawTiers } from './picture.ts'
import { policyTiers } from './policy-tiers.ts'

const title = 'In which order the rules of policies are asked'
writeGenerated('tiers', 'docs/public/policy-tiers.svg', drawTiers(policyTiers, title))
