export { desiredPrefixes, desiredRoutes, speakerApp, type Announced } from './routes/desired.ts'
export type {
  AnnouncedRoute,
  AnnouncementProblem,
  NeighborView,
  RouteAttributes,
  SpeakerSnapshot,
} from './routes/snapshot.ts'
