export { desiredPrefixes, desiredRoutes, type Announced } from './routes/desired.ts'
export type { AnnouncedRoute, AnnouncementProblem, NeighborView, SpeakerSnapshot } from './routes/snapshot.ts'
