" *.cfg has a file type of its own in vim, which `setfiletype` would keep.
au BufRead,BufNewFile *.pipe.cfg,*.policy.cfg,*/policy/*.cfg,*/pipelines/parts/*.cfg set filetype=pipectl
