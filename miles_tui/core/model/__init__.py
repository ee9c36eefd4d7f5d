"""What a run is made of: pieces, records, rollouts, series, the eight signals and what metrics mean."""
